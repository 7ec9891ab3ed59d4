package com.alibaba.csp.sentinel.slots.block;

/** Stands in for the Sentinel exception of the same name. */
public final class DegradeException extends Exception {

    private static final long serialVersionUID = 1L;
}
