package tern.rpc.transport;

import java.util.List;

/**
 * A target for coverage-guided fuzzing.
 *
 * @param seeds the initial inputs
 * @param target the code under test; an exception that it throws is a finding
 * @param resources the resources to close at the end
 */
public record FuzzTarget(List<byte[]> seeds, Fuzz.Target target, AutoCloseable resources) {}
