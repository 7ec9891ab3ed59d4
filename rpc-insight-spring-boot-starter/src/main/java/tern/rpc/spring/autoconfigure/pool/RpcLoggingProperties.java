package tern.rpc.spring.autoconfigure.pool;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties under {@code rpc.logging}.
 *
 * @param async Whether a background thread of Log4j 2 writes the log, if the LMAX Disruptor is on the class path and
 *     the application does not configure Log4j 2 itself. Lines are dropped and counted if the ring buffer is full.
 */
@ConfigurationProperties(value = "rpc.logging", ignoreUnknownFields = false)
public record RpcLoggingProperties(@DefaultValue("true") boolean async) {}
