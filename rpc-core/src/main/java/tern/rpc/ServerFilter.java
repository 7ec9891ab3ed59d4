package tern.rpc;

/** A filter around served calls. It runs on the worker thread, after the arguments were decoded. */
public interface ServerFilter extends Filter {}
