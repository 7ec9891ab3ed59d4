package tern.rpc.registry;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import tern.rpc.registry.AdvertisedAddress.Answer;
import tern.rpc.registry.AdvertisedAddress.CardAddress;
import tern.rpc.registry.AdvertisedAddress.Machine;

/** Gives access to this machine's network. */
public final class SystemMachine implements Machine {

    private static final int CONNECT_MILLIS = 1_000;
    private static final int ACCEPT_MILLIS = 1_000;
    private static final long LOOK_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    @Override
    public InetAddress routeTo(InetSocketAddress remote) throws IOException {
        if (remote.isUnresolved()) {
            throw new IOException("its name cannot be resolved");
        }
        try (DatagramSocket socket = new DatagramSocket()) {
            // On a UDP socket, connect() sends no packet and only looks up the route.
            socket.connect(remote);
            return socket.getLocalAddress();
        }
    }

    /** Returns the addresses with IPv4 before IPv6, and loopback addresses last. */
    @Override
    public List<CardAddress> addresses() throws IOException {
        List<CardAddress> found = new ArrayList<>();
        for (NetworkInterface card : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            if (card.isUp()) {
                for (InetAddress address : Collections.list(card.getInetAddresses())) {
                    found.add(new CardAddress(card.getName(), address));
                }
            }
        }
        found.sort(Comparator.comparing((CardAddress each) -> each.address().isLoopbackAddress())
                .thenComparing(each -> each.address().getAddress().length));
        return List.copyOf(found);
    }

    @Override
    public Answer connectTo(String host, int port, LongSupplier accepted) {
        long before = accepted.getAsLong();
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host, port), CONNECT_MILLIS);
            // The operating system completes the connection before the listening process accepts it, so this loop
            // waits.
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ACCEPT_MILLIS);
            while (before >= 0 && accepted.getAsLong() == before) {
                if (System.nanoTime() - end >= 0) {
                    return Answer.OTHER_PROCESS;
                }
                LockSupport.parkNanos(LOOK_EVERY_NANOS);
            }
            return Answer.THIS_PROCESS;
        } catch (IOException e) {
            return Answer.NONE;
        }
    }
}
