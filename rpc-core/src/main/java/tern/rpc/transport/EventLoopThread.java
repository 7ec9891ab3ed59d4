package tern.rpc.transport;

/**
 * Marks event loop threads, which read and write sockets. Such a thread must never block. It must above all not wait
 * for bytes from a socket, because that would be a deadlock.
 */
public interface EventLoopThread {}
