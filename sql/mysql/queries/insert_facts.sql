SELECT @@max_allowed_packet, @@auto_increment_increment
