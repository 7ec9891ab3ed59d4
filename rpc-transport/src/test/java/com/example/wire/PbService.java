package com.example.wire;

import com.google.protobuf.StringValue;

/** The protobuf methods of the captured calls. */
public interface PbService {

    StringValue hello(StringValue v);

    StringValue fail(StringValue v);
}
