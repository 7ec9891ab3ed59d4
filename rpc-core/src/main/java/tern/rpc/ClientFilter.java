package tern.rpc;

/** A filter around outgoing calls. It sees a call once, however often it is attempted. */
public interface ClientFilter extends Filter {}
