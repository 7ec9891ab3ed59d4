package tern.rpc.pool;

/** The ways in which log lines reach their appenders. The advice of a diagnosis depends on this mode. */
public enum LoggingMode {
    /** Calling threads put log lines into a queue. This value is also used for an unknown logging system. */
    ASYNCHRONOUS,
    /** Calling threads write lines through Log4j 2, because {@code rpc.logging.async} is false. */
    SWITCHED_OFF,
    /** Calling threads write lines through Log4j 2, because the LMAX Disruptor is missing. */
    NO_DISRUPTOR,
    /** Calling threads write lines through Log4j 2, which the application has configured itself. */
    OWN_CONFIGURATION,
    /** Calling threads write lines through Logback. */
    LOGBACK
}
