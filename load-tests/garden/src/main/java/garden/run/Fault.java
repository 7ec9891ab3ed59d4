package garden.run;

import java.util.ArrayList;
import java.util.List;

/**
 * A fault, a pair of faults, or a healthy situation, with the true causes that a correct diagnosis must name. Immutable
 * once it has been built.
 */
public final class Fault {

    /**
     * Matches every recommendation to change a pool size. For a fault that no pool size can repair, these
     * recommendations are harmful.
     */
    public static final String NO_SIZE =
            "(max-active|max-total|max-idle|maximum-pool-size|max-per-host|max-wait|threads|queue-capacity)=\\S*\\d";

    /** An action that injects a fault. */
    public interface Plant {
        void into(Garden garden) throws Exception;
    }

    private final String name;
    private final Stand stand;
    private final String text;
    private final List<Truth> truths = new ArrayList<>();
    private final List<Plant> plants = new ArrayList<>();

    private Fault(String name, Stand stand, String text) {
        this.name = name;
        this.stand = stand;
        this.text = text;
    }

    /** Creates a fault. The fault represents a healthy situation unless {@link #truth} adds a true cause. */
    public static Fault of(String name, Stand stand, String text) {
        return new Fault(name, stand, text);
    }

    /**
     * Adds a true cause to this fault. Each argument is a regular expression, which is compared with a part of the
     * diagnosis: the kind of the cause, its place, the right change, or a harmful change.
     */
    public Fault truth(String kind, String place, String change, String forbidden) {
        truths.add(Truth.of(kind, place, change, forbidden));
        return this;
    }

    public Fault plant(Plant plant) {
        plants.add(plant);
        return this;
    }

    /** Creates a pair of faults that are injected at the same time. */
    public static Fault pair(String name, Fault one, Fault other) {
        if (one.stand != other.stand) {
            throw new IllegalArgumentException(name + " has two stands, " + one.stand + " and " + other.stand);
        }
        Fault pair = new Fault(name, one.stand, one.text + "; and " + other.text);
        for (Fault part : List.of(one, other)) {
            pair.truths.addAll(part.truths);
            pair.plants.addAll(part.plants);
        }
        return pair;
    }

    public String name() {
        return name;
    }

    Stand stand() {
        return stand;
    }

    String text() {
        return text;
    }

    List<Truth> truths() {
        return truths;
    }

    boolean healthy() {
        return truths.isEmpty();
    }

    void plantInto(Garden garden) throws Exception {
        for (Plant plant : plants) {
            plant.into(garden);
        }
    }
}
