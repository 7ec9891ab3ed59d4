package tern.rpc.spring.autoconfigure.pool;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Values as they are written.
 *
 * @param async Whether Log4j 2 writes by a background thread, where the application has the disruptor and no configuration
 *     of its own for Log4j 2; lines that find the ring full are dropped and counted.
 */
@ConfigurationProperties(value = "rpc.logging", ignoreUnknownFields = false)
public record RpcLoggingProperties(@DefaultValue("true") boolean async) {}
