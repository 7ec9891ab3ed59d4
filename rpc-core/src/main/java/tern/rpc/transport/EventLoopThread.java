package tern.rpc.transport;

/**
 * Marks event loop threads, which read and write sockets. An event loop thread must never block. An event loop that
 * waited for bytes from a socket would wait forever, because only the event loop reads the socket.
 */
public interface EventLoopThread {}
