package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.ServiceDescriptor;
import tern.rpc.limit.Refusal;
import tern.rpc.netty.peer.Await;
import tern.rpc.transport.AcceptedTokens;
import tern.rpc.transport.CallHandler;
import tern.rpc.transport.ServerCall;
import tern.rpc.transport.ServiceLookup;

@Timeout(120)
class DrainingTest {

    /** A call handler that must not receive calls, because no calls arrive in this test. */
    static final class NoCalls implements CallHandler {

        @Override
        public void handle(ServerCall call) {
            throw new AssertionError("a call came");
        }

        @Override
        public ServiceLookup services() {
            throw new AssertionError("a call came");
        }

        @Override
        public AcceptedTokens tokens() {
            throw new AssertionError("a call came");
        }

        @Override
        public boolean asksWhoCalls() {
            return false;
        }

        @Override
        public boolean hasAuthorizers() {
            return false;
        }

        @Override
        public void refused(Refusal reason) {
            // The test does not count refused calls.
        }
    }

    /** A protocol that recognizes no connection, whatever the first bytes are. */
    private static final class NoProtocol implements ServerProtocol {

        @Override
        public String name() {
            return "none";
        }

        @Override
        public Match match(ByteBuf firstBytes) {
            return Match.NO;
        }

        @Override
        public void prepare(ServiceDescriptor service) {
            // A protocol that matches no bytes needs no preparation.
        }

        @Override
        public ChannelHandler serverHandler(ServerConnection connection) {
            throw new AssertionError("nobody speaks it");
        }

        @Override
        public WriteCommand goAway(ServerConnection connection) {
            throw new AssertionError("nobody speaks it");
        }
    }

    /**
     * Tests a connection that has been accepted by the operating system and the accepting event loop but is not yet
     * registered with its own event loop.
     */
    @Test
    void connectionTakenOverDuringTheDrainIsAskedToClose() throws Exception {
        try (EventLoops loops = EventLoops.start(2);
                NettyServerTransport server =
                        new NettyServerTransport(ServerTransportSettings.onPort(0), loops, List.of(new NoProtocol()))) {
            server.start(new NoCalls());
            List<EventExecutor> executors = new ArrayList<>();
            loops.group().forEach(executors::add);
            // the listening socket belongs to the first event loop, so the next connection belongs to the second
            SingleThreadEventExecutor next = (SingleThreadEventExecutor) executors.get(1);
            CountDownLatch letGo = new CountDownLatch(1);
            next.execute(() -> await(letGo));
            Await.until("the event loop is busy", () -> next.pendingTasks() == 0);
            try (Socket client = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
                client.setSoTimeout(30_000);
                Await.until("the connection waits to be taken over", () -> next.pendingTasks() > 0);

                server.drain();
                letGo.countDown();

                assertThat(client.getInputStream().read()).isEqualTo(-1);
            } finally {
                letGo.countDown();
            }
            Await.until("the connection is gone", () -> server.connections() == 0);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(30, TimeUnit.SECONDS)) {
                throw new AssertionError("nobody let the event loop go");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
