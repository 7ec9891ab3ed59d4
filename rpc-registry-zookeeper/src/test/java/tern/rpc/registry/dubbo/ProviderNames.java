package tern.rpc.registry.dubbo;

import java.util.AbstractList;

/** The names of interface-level nodes of one application. Each name is created when it is read. */
public final class ProviderNames extends AbstractList<String> {

    private static final int ZONES = 3;

    private final int size;

    public ProviderNames(int size) {
        this.size = size;
    }

    /** Returns the name of a provider's node. The number determines the address. */
    static String name(int number, long startedAt, String zone) {
        String host = "10." + (number >> 16) + "." + (number >> 8 & 255) + "." + (number & 255);
        return "dubbo%3A%2F%2F" + host + "%3A20880%2Fcap.Greeting%3Fapplication%3Dshop%26interface%3Dcap.Greeting"
                + "%26methods%3Dadd%2Cgreet%26timestamp%3D" + startedAt + "%26zone%3D" + zone;
    }

    @Override
    public String get(int index) {
        return name(index, 1_795_000_000_000L + index, "zone-" + index % ZONES);
    }

    @Override
    public int size() {
        return size;
    }
}
