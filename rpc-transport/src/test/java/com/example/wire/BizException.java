package com.example.wire;

/** An exception declared by the service interface. The exception has a field. */
public class BizException extends Exception {

    private static final long serialVersionUID = 1L;

    private int code;

    public BizException(String message, int code) {
        super(message);
        this.code = code;
    }

    public int getCode() {
        return code;
    }
}
