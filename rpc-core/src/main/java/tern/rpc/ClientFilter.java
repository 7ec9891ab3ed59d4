package tern.rpc;

/** A filter around outgoing calls. It sees each call once, regardless of the number of attempts. */
public interface ClientFilter extends Filter {}
