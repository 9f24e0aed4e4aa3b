import { ArgsType, Field } from 'type-graphql';
import { NotNull } from '../../schema/input-rules.ts';
import { FolderName } from '../../schema/photo.scalars.ts';
import { FolderId, ProjectId } from '../../schema/scalars.ts';

/** Body of `createPhotoFolder` (PHO-15). */
@ArgsType()
export class CreateFolderArgs {
  @Field(() => FolderName, { description: 'Name of the folder, 1 to 255 characters.' })
  name!: string;

  @Field(() => ProjectId, { nullable: true, description: "Default: the parent's project." })
  projectId?: string | null;

  @Field(() => FolderId, { nullable: true, description: 'A folder of the same project; without it, the top.' })
  parentId?: string | null;
}

/** Body of `updatePhotoFolder`; absent fields stay unchanged. */
@ArgsType()
export class UpdateFolderArgs {
  @Field(() => FolderName, { nullable: true, description: 'New name of the folder.' })
  @NotNull()
  name?: string;

  @Field(() => FolderId, { nullable: true, description: 'Null moves the folder to the top.' })
  parentId?: string | null;
}
