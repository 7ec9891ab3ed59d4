package com.example.wire;

import com.google.protobuf.StringValue;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;

/** Implements the protobuf service in the same way as the provider of the captured calls. */
public final class PbServer implements PbService {

    @Override
    public StringValue hello(StringValue v) {
        return StringValue.of("hi " + v.getValue());
    }

    @Override
    public StringValue fail(StringValue v) {
        throw new RpcException(StatusCode.PERMISSION_DENIED, "no \u00e9%\nentry");
    }
}
