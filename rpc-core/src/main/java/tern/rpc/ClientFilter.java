package tern.rpc;

/** A filter around outgoing calls. A client filter runs once for each call, regardless of the number of attempts. */
public interface ClientFilter extends Filter {}
