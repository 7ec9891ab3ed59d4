package tern.rpc.interop;

import tern.rpc.WireName;
import tern.rpc.interop.testing.Empty;

/** Methods that no server implements, for the cases that expect the status UNIMPLEMENTED. */
final class UnimplementedMethods {

    private UnimplementedMethods() {}

    /** A missing method of an existing service. */
    @WireName("grpc.testing.TestService")
    interface OfTestService {

        @WireName("UnimplementedCall")
        Empty unimplementedCall(Empty request);
    }

    /** A service that does not exist. */
    @WireName("grpc.testing.UnimplementedService")
    interface OfNoService {

        @WireName("UnimplementedCall")
        Empty unimplementedCall(Empty request);
    }
}
