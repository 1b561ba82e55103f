SELECT @@max_allowed_packet
