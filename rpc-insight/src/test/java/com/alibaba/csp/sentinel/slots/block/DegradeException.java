package com.alibaba.csp.sentinel.slots.block;

/** Has the name of an exception of Sentinel. */
public final class DegradeException extends Exception {

    private static final long serialVersionUID = 1L;
}
