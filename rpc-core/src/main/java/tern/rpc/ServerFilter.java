package tern.rpc;

/** A filter around served calls. A server filter runs on the worker thread, after the arguments have been decoded. */
public interface ServerFilter extends Filter {}
