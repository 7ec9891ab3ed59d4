package tern.rpc;

/** A filter around outgoing calls. It runs once per call, regardless of the number of attempts. */
public interface ClientFilter extends Filter {}
