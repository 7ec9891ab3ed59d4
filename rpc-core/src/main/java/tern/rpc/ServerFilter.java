package tern.rpc;

/** A filter around served calls, on the worker thread, after the arguments were read. */
public interface ServerFilter extends Filter {}
