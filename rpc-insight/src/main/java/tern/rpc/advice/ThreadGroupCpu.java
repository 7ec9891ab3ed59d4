package tern.rpc.advice;

/**
 * Processor time of threads that are named alike.
 *
 * @param name what their names begin with: {@code lettuce-nioEventLoop}
 * @param threads how many there are
 * @param cores processors that they kept busy on average: 0.5 is half of one
 */
public record ThreadGroupCpu(String name, int threads, double cores) {}
