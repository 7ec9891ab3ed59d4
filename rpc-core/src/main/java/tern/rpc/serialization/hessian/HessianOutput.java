package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.Hessian2Output;

/** hessian-lite's output with what the exceptions of one message have in common. Not thread-safe. */
final class HessianOutput extends Hessian2Output {

    /** How many stack frames are written of each exception. */
    int frames;

    /** How many exceptions the present one hangs on. */
    int links;

    HessianOutput(HessianTypes types) {
        setSerializerFactory(types);
    }
}
