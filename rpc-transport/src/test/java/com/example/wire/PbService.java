package com.example.wire;

import com.google.protobuf.StringValue;

/** The protobuf methods that the captured calls use. */
public interface PbService {

    StringValue hello(StringValue v);

    StringValue fail(StringValue v);
}
