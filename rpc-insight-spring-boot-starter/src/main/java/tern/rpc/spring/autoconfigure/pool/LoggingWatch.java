package tern.rpc.spring.autoconfigure.pool;

import tern.rpc.pool.LoggingMode;

/** Reports whether and how the application's log lines are queued before they reach their appenders. */
public interface LoggingWatch {

    LoggingMode mode();
}
