package tern.rpc.transport;

/**
 * Marks event loop threads, which read and write sockets. An event loop thread must never block. In particular, it must
 * not wait for bytes from a socket, because this would cause a deadlock.
 */
public interface EventLoopThread {}
