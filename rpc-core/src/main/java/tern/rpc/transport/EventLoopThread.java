package tern.rpc.transport;

/**
 * Marks event loop threads, which read and write the sockets. They must never wait, least of all for bytes from a
 * socket: that would be a deadlock.
 */
public interface EventLoopThread {}
