package tern.rpc.transport;

/**
 * Marks threads that move bytes. What they do must not wait: least of all for bytes to be moved, which would be for ever.
 */
public interface EventLoopThread {}
