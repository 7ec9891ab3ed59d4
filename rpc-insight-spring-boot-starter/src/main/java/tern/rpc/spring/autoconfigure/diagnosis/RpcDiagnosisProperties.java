package tern.rpc.spring.autoconfigure.diagnosis;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties under {@code rpc.diagnosis}.
 *
 * @param downOnFailure Whether health is DOWN instead of DEGRADED while more than one call in a hundred fails, is
 *     refused or hangs.
 * @param flightRecorder Whether to record for 30 s with the flight recorder if calls miss the target for a long time.
 *     There is at most one recording in ten minutes. Before Java 24, this works only if the recorder has already been
 *     started.
 */
@ConfigurationProperties("rpc.diagnosis")
public record RpcDiagnosisProperties(
        @DefaultValue("false") boolean downOnFailure,
        @DefaultValue("true") boolean flightRecorder) {}
