package tern.rpc.netty.triple;

import java.util.List;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ServerProtocol;
import tern.rpc.netty.peer.DubboInteropContract;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.GenericException;

/** Calls between us and a real Apache Dubbo on Triple. */
class TripleInteropTest extends DubboInteropContract {

    private final TripleCodecs codecs = new TripleCodecs(
            HessianSerializer.builder()
                    .alias(GenericException.class, GenericException.WIRE_NAME)
                    .build(),
            null,
            0);

    TripleInteropTest() {
        super("tri");
    }

    @Override
    protected List<ServerProtocol> serverProtocols() {
        return List.of(new TripleProtocol(codecs));
    }

    @Override
    protected ClientProtocol clientProtocol() {
        return new TripleClientProtocol(codecs);
    }
}
