package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.netty.peer.ContractTransports;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.serialization.LargeMessages;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.AcceptedTokens;
import tern.rpc.transport.GuardedService;
import tern.rpc.transport.IdentityContractTest;
import tern.rpc.transport.TestedTransport;
import tern.rpc.transport.Token;

class DubboIdentityTest extends IdentityContractTest {

    private static final DubboProtocol PROTOCOL =
            new DubboProtocol(HessianSerializer.builder().build(), 0);

    @RegisterExtension
    static final ContractTransports TRANSPORTS = new ContractTransports(PROTOCOL, PROTOCOL);

    @Override
    protected TestedTransport transport() {
        return TRANSPORTS;
    }

    /**
     * Tests a request with two different service names. The body contains the name of a guarded service, and the path
     * attachment contains the name of the health service, which needs no token. The server must refuse the request.
     */
    @Test
    void openServiceGivesNoAccessToOtherServices() {
        HessianSerializer serializer = HessianSerializer.builder().build();
        serve(settings -> settings.token(Token.of("good-0123456789")));
        ServiceDescriptor service = ServiceDescriptor.of(GuardedService.class);
        OutputBuffer out = new OutputBuffer();
        ObjectWriter writer = serializer.newWriter();
        writer.start(out);
        DubboRequestBody.writeHead(
                writer,
                new ServiceKey(service.name(), "", ""),
                service.overloads("take").get(0));
        writer.writeObject(new GuardedService.Counted());
        writer.writeObject(new ArrayList<>());
        writer.startMap();
        writer.writeString("path");
        writer.writeString(AcceptedTokens.OPEN_SERVICE);
        writer.endMap();
        writer.finish();
        int before = GuardedService.Counted.MADE.get();

        try (RawSocket socket = RawSocket.connect(endpoint().port())) {
            socket.send(new RawFrame(RawFrame.TWO_WAY, 0, 7, out.toByteArray()));

            assertThat(socket.read().text()).contains("different services");
        }

        assertThat(GuardedService.Counted.MADE).hasValue(before);
    }

    @Test
    void callerIsAuthorizedBeforeMemoryIsReservedForTheObjectsOfALargeRequest() {
        serve(settings -> settings.token(Token.of("good-0123456789")));
        ServiceDescriptor service = ServiceDescriptor.of(GuardedService.class);
        OutputBuffer out = new OutputBuffer();
        ObjectWriter writer = HessianSerializer.builder().build().newWriter();
        writer.start(out);
        DubboRequestBody.writeHead(
                writer,
                new ServiceKey(service.name(), "", ""),
                service.overloads("take").get(0));
        writer.writeObject(new byte[2 << 20]);
        writer.writeObject(new ArrayList<>());
        writer.startMap();
        writer.endMap();
        writer.finish();

        int held = LargeMessages.hold(Runtime.getRuntime().maxMemory() / 4 - (16 << 20));
        try (RawSocket socket = RawSocket.connect(endpoint().port())) {
            socket.send(new RawFrame(RawFrame.TWO_WAY, 0, 7, out.toByteArray()));

            assertThat(socket.read().text()).contains("rpc.server.token");
        } finally {
            LargeMessages.release(held);
        }
    }
}
