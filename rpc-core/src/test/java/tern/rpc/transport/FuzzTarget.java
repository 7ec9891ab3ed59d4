package tern.rpc.transport;

import java.util.List;

/**
 * A target of coverage-guided fuzzing.
 *
 * @param seeds the initial inputs
 * @param target throws an exception for a finding
 * @param resources closed at the end
 */
public record FuzzTarget(List<byte[]> seeds, Fuzz.Target target, AutoCloseable resources) {}
