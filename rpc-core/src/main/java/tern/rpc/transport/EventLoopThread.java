package tern.rpc.transport;

/**
 * Marks event loop threads, which read and write sockets. An event loop thread must never block. Waiting for bytes from
 * a socket would cause a deadlock, because only the event loop reads the socket.
 */
public interface EventLoopThread {}
