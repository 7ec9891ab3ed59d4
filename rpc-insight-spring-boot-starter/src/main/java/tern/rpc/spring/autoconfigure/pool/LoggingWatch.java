package tern.rpc.spring.autoconfigure.pool;

import tern.rpc.pool.LoggingMode;

/** Reports how the application's log lines reach their appenders. */
public interface LoggingWatch {

    LoggingMode mode();
}
