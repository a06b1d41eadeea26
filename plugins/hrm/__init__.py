"""People and their time: employees, shifts, attendance by GPS and WiFi, leave."""
