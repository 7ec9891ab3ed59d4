package tern.rpc.diagnosis;

import java.util.Map;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Part.Kind;

/**
 * Finds commands that stop Redis. Redis runs one command at a time, so a command over many elements delays all others.
 * Some commands are known for this. Others are recognized because they take much longer than the commands that wait for
 * them.
 */
final class RedisStops {

    /** A command noticeably delays other commands if it takes at least this long. */
    private static final double STOPPED_NANOS = 10e6;

    /** A command that stops the server takes at least this multiple of the time of any other command. */
    private static final double LONGER = 3;

    /**
     * The time of a command that stops the server has grown by at least this share of the factor by which the time of
     * any other command has grown.
     */
    private static final double GROWTH = 0.5;

    private final Operations operations;

    RedisStops(Operations operations) {
        this.operations = operations;
    }

    /**
     * Returns whether this part is a command that stops Redis. A command that is known for this but is usually short does
     * not stop Redis; it is slow only because the server is slow.
     */
    boolean isStopping(Part part) {
        boolean isNamed = !part.name().isEmpty() && !part.name().startsWith(StackReader.CALLED);
        if (part.kind() != Kind.REDIS || !isNamed || StoreText.isBlocking(part.name())) {
            return false;
        }
        double each = operations.of(Phase.REDIS, part.name()).eachNanos();
        double usually = operations.usualNamed(Phase.REDIS, part.name());
        if (each < STOPPED_NANOS) {
            return false;
        }
        return StoreText.stopsServer(part.name())
                ? usually < 0 || usually >= STOPPED_NANOS
                : delaysOthers(part.name(), each, usually);
    }

    private boolean delaysOthers(String name, double each, double usually) {
        Map<String, Double> all = operations.each(Phase.REDIS);
        for (Map.Entry<String, Double> other : all.entrySet()) {
            double otherUsually = operations.usualNamed(Phase.REDIS, other.getKey());
            boolean isOther = !other.getKey().equals(name) && operations.areOfSameServer(other.getKey(), name);
            if (isOther
                    && (LONGER * other.getValue() > each
                            || hasGrownMore(other.getValue(), otherUsually, each, usually))) {
                return false;
            }
        }
        return all.size() > 1;
    }

    /** Returns whether another command has become slower by more than this command. Returns false for new commands. */
    private static boolean hasGrownMore(double other, double otherUsually, double each, double usually) {
        return usually > 0
                && otherUsually > 0
                && (other - otherUsually > each - usually || GROWTH * other / otherUsually > each / usually);
    }
}
