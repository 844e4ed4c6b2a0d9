module pyasc

go 1.21
