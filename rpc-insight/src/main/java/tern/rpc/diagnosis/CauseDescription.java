package tern.rpc.diagnosis;

import java.util.List;

/** The texts that describe one cause: its kind and name, the recommended change, and the evidence. */
record CauseDescription(String kind, String name, Cause.Change change, List<String> facts) {}
