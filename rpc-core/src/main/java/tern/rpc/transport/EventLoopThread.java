package tern.rpc.transport;

/**
 * Marks event loop threads, which read and write sockets. An event loop thread must never block. If an event loop
 * waited for bytes from a socket, it would wait forever, because only the event loop reads the socket.
 */
public interface EventLoopThread {}
