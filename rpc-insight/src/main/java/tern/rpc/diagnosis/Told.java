package tern.rpc.diagnosis;

import java.util.List;

/** The description of one cause: its kind and name, the recommended change, and the facts that show it. */
record Told(String kind, String name, Cause.Change change, List<String> facts) {}
