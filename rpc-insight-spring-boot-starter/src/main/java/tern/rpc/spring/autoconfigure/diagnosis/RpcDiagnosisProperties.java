package tern.rpc.spring.autoconfigure.diagnosis;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties under {@code rpc.diagnosis}.
 *
 * @param downOnFailure Whether health is DOWN instead of DEGRADED while more than one call in a hundred fails, is
 *     refused or hangs.
 * @param flightRecorder Whether the flight recorder records for 30 s if calls miss the target for ten seconds, at most once
 *     in ten minutes. Before Java 24, only if the recorder has been started before.
 */
@ConfigurationProperties("rpc.diagnosis")
public record RpcDiagnosisProperties(
        @DefaultValue("false") boolean downOnFailure,
        @DefaultValue("true") boolean flightRecorder) {}
