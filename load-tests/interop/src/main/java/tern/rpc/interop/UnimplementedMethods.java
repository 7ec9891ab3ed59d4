package tern.rpc.interop;

import tern.rpc.WireName;
import tern.rpc.interop.testing.Empty;

/** What no server has, for the cases that call it nevertheless. */
final class UnimplementedMethods {

    private UnimplementedMethods() {}

    /** A method that the service lacks. */
    @WireName("grpc.testing.TestService")
    interface OfTestService {

        @WireName("UnimplementedCall")
        Empty unimplementedCall(Empty request);
    }

    /** A service that the server lacks. */
    @WireName("grpc.testing.UnimplementedService")
    interface OfNoService {

        @WireName("UnimplementedCall")
        Empty unimplementedCall(Empty request);
    }
}
