package tern.rpc.diagnosis;

import java.util.List;

/** The description of one cause: its kind and name, the recommended change, and the evidence. */
record Told(String kind, String name, Cause.Change change, List<String> facts) {}
