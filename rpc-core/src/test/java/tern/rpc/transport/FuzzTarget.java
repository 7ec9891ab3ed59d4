package tern.rpc.transport;

import java.util.List;

/**
 * What a fuzzer that is guided by coverage feeds.
 *
 * @param seeds inputs that it starts from
 * @param target throws what is a finding
 * @param resources closed in the end
 */
public record FuzzTarget(List<byte[]> seeds, Fuzz.Target target, AutoCloseable resources) {}
