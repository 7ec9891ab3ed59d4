package tern.rpc.load.peer;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The results so far, by framework and scenario. Not thread-safe. */
final class Results {

    private record Key(String peer, String scene) {}

    private final List<String> peers;
    private final List<Scene> scenes;
    private final Map<Key, List<Measurement>> measured = new LinkedHashMap<>();
    private final Map<Key, String> failures = new LinkedHashMap<>();

    Results(List<String> peers, List<Scene> scenes) {
        this.peers = List.copyOf(peers);
        this.scenes = List.copyOf(scenes);
    }

    List<String> peers() {
        return peers;
    }

    List<Scene> scenes() {
        return scenes;
    }

    void add(String peer, Scene scene, Measurement round) {
        Key key = new Key(peer, scene.name());
        if (round.errors() > 0) {
            failures.putIfAbsent(key, round.firstError());
        }
        if (round.calls() > 0) {
            measured.computeIfAbsent(key, added -> new ArrayList<>()).add(round);
        }
    }

    /** Records that a framework failed in a round, before the given scenarios were measured. */
    void failed(String peer, List<Scene> missing, String reason) {
        missing.forEach(scene -> failures.putIfAbsent(new Key(peer, scene.name()), reason));
    }

    Outcome of(String peer, Scene scene) {
        Key key = new Key(peer, scene.name());
        return new Outcome(measured.getOrDefault(key, List.of()), failures.getOrDefault(key, ""));
    }
}
