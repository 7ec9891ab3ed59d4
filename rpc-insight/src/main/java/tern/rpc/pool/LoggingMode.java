package tern.rpc.pool;

/** The ways in which log lines reach their appenders. Each has its own advice. */
public enum LoggingMode {
    /** Callers hand lines to a queue. Also the value of an unknown logging system. */
    ASYNCHRONOUS,
    /** Callers write lines through Log4j 2, because {@code rpc.logging.async} is false. */
    SWITCHED_OFF,
    /** Callers write lines through Log4j 2, because the disruptor is missing. */
    NO_DISRUPTOR,
    /** Callers write lines through Log4j 2 with a configuration of the application. */
    OWN_CONFIGURATION,
    /** Callers write lines through Logback. */
    LOGBACK
}
