package tern.rpc.transport;

/**
 * Marks event loop threads, which read and write sockets. An event loop thread must never block. Above all, it must
 * not wait for bytes from a socket, because that would be a deadlock.
 */
public interface EventLoopThread {}
