package tern.rpc.registry.zookeeper;

import java.util.List;
import tern.rpc.registry.dubbo.KnownProviders;
import tern.rpc.registry.dubbo.KnownProviders.Provider;

/** Watches the interface-level entries of one interface. Confined to the session's thread. */
final class ProviderWatch implements Session.Listener {

    private final Session session;
    private final Runnable changed;
    private final ChildNames names;
    private final KnownProviders known = new KnownProviders();
    private boolean heard;

    /** @param changed called after the first list and after each change */
    ProviderWatch(Session session, String interfaceName, Runnable changed) {
        this.session = session;
        this.changed = changed;
        this.names = new ChildNames(
                session,
                Paths.of(session.settings()).providers(interfaceName),
                ChildNames.MAX_CHILDREN,
                this::listed,
                this::unreadable);
    }

    void start() {
        session.add(this);
    }

    /** Reads pending changes of the entries without waiting for the end of the current interval. */
    void hurry() {
        names.hurry();
    }

    @Override
    public void connected(boolean isNew) {
        names.connected();
    }

    @Override
    public void stale(String why) {}

    private void listed(List<String> listed) {
        boolean differs = known.replace(listed, names::leaveOut);
        if (differs || !heard) {
            heard = true;
            changed.run();
        }
    }

    /**
     * Called when the entries of the interface cannot be listed. If they have never been listed, the interface is
     * treated as if it had no entries, so that the list of providers does not wait for them.
     */
    private void unreadable() {
        if (!heard) {
            heard = true;
            changed.run();
        }
    }

    /** Returns true once the entries have been listed, or an attempt to list them has failed. */
    boolean isHeard() {
        return heard;
    }

    /**
     * Returns the providers, sorted by address. The list is immutable, and is the same object until a provider changes.
     */
    List<Provider> providers() {
        return known.providers();
    }

    void close() {
        names.close();
        session.remove(this);
    }
}
