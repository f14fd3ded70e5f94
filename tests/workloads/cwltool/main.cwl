# The workflow of the cwltool workload: one step scattered over three seeds, one alone.
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
inputs:
  reference: File
  seeds: int[]
outputs:
  reads:
    type: File[]
    outputSource: simulate/reads
  index:
    type: File
    outputSource: faidx/fai
steps:
  simulate:
    run:
      class: CommandLineTool
      baseCommand: [wgsim, -N, "500"]
      arguments: [{valueFrom: reads.1.fq, position: 3}, {valueFrom: reads.2.fq, position: 4}]
      stdout: truth
      inputs:
        seed: {type: int, inputBinding: {prefix: -S, position: 1}}
        reference: {type: File, inputBinding: {position: 2}}
      outputs:
        reads: {type: File, outputBinding: {glob: reads.1.fq}}
    scatter: seed
    in: {seed: seeds, reference: reference}
    out: [reads]
  faidx:
    run:
      class: CommandLineTool
      baseCommand: [samtools, faidx]
      inputs:
        reference: {type: File, inputBinding: {position: 1}}
      requirements:
        InitialWorkDirRequirement: {listing: [$(inputs.reference)]}
      outputs:
        fai: {type: File, outputBinding: {glob: "*.fai"}}
    in: {reference: reference}
    out: [fai]
