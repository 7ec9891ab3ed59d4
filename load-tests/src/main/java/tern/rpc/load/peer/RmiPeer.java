package tern.rpc.load.peer;

import java.net.InetAddress;
import java.rmi.NotBoundException;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.UnicastRemoteObject;

/** The JDK's RMI with default settings: one socket per caller, and one server thread per socket. */
final class RmiPeer implements Peer {

    private static final String NAME = "benchmark";

    private final Opened opened = new Opened();

    @Override
    public void serve(int port, Services services) {
        // The address of the server that the stubs connect to. Without this setting, RMI would use the host name.
        System.setProperty(
                "java.rmi.server.hostname", InetAddress.getLoopbackAddress().getHostAddress());
        try {
            RmiBenchmark answers = new RmiAnswers(services);
            Registry registry = LocateRegistry.createRegistry(port);
            opened.add(() -> UnicastRemoteObject.unexportObject(registry, true));
            registry.rebind(NAME, UnicastRemoteObject.exportObject(answers, port));
            opened.add(() -> UnicastRemoteObject.unexportObject(answers, true));
        } catch (RemoteException e) {
            throw new IllegalStateException("RMI cannot serve on port " + port, e);
        }
    }

    @Override
    public Services connect(int port) {
        try {
            Registry registry =
                    LocateRegistry.getRegistry(InetAddress.getLoopbackAddress().getHostAddress(), port);
            return RmiCalls.over((RmiBenchmark) registry.lookup(NAME));
        } catch (RemoteException | NotBoundException e) {
            throw new IllegalStateException("RMI finds no " + NAME + " on port " + port, e);
        }
    }

    @Override
    public void close() {
        opened.close();
    }
}
