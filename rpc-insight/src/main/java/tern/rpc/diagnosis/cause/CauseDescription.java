package tern.rpc.diagnosis.cause;

import java.util.List;

/** The texts that describe one cause: its kind and name, the recommended change, and the evidence. */
public record CauseDescription(String kind, String name, Cause.Change change, List<String> facts) {}
